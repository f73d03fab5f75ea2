"""Subscriptions of `/v1/stream` as async iterators."""
