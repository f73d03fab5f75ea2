"""py-clob-client-v2, the trading client in Python."""

import time

from exchange import chain_id, clob_url, eventually, markets, refused, run_all, test, wallet_keys
from py_clob_client_v2 import (
    AssetType,
    BalanceAllowanceParams,
    BookParams,
    ClobClient,
    DropNotificationParams,
    MarketOrderArgs,
    OpenOrderParams,
    OrderArgs,
    OrderMarketCancelParams,
    OrderPayload,
    OrderScoringParams,
    OrdersScoringParams,
    OrderType,
    PostOrdersV2Args,
    PricesHistoryParams,
    TradeParams,
)

condition_id = markets[3]["conditionId"]
yes, no = markets[3]["tokenIds"]


def connect(index, nonce=None):
    client = ClobClient(clob_url, chain_id, key=wallet_keys[index])
    client.set_api_creds(client.create_or_derive_api_key(nonce))
    return client


maker = connect(6)
taker = connect(7)


def limit(client, token, price, size, side="BUY", **more):
    return client.create_order(OrderArgs(token_id=token, price=price, size=size, side=side, **more))


@test("reads health, time and version")
def health():
    assert maker.get_ok() == "OK"
    assert abs(maker.get_server_time() - time.time()) < 5
    assert maker.get_version() == 2


@test("derives the key it created, lists keys, and is not limited to closing")
def keys():
    assert maker.derive_api_key() == maker.creds
    assert maker.creds.api_key in maker.get_api_keys()["apiKeys"]
    assert maker.get_closed_only_mode()["closed_only"] is False


@test("reads market lists and the fields it needs for signing")
def lists():
    for page in (
        maker.get_markets(),
        maker.get_simplified_markets(),
        maker.get_sampling_markets(),
        maker.get_sampling_simplified_markets(),
    ):
        assert page["data"] and page["next_cursor"] == "LTE="
    assert maker.get_market(condition_id)["condition_id"] == condition_id
    assert maker.get_clob_market_info(condition_id)["mts"] == 0.01
    assert maker.get_tick_size(yes) == "0.01"
    assert maker.get_neg_risk(yes) is False
    assert maker.get_fee_rate_bps(yes) == 0


@test("posts a resting order, reads it back, and cancels it")
def resting():
    placed = maker.post_order(limit(maker, yes, 0.2, 10))
    assert placed["success"] is True and placed["status"] == "live"
    assert maker.get_order(placed["orderID"])["status"] == "LIVE"
    opened = maker.get_open_orders(OpenOrderParams(market=condition_id))
    assert [order["id"] for order in opened] == [placed["orderID"]]
    canceled = maker.cancel_order(OrderPayload(orderID=placed["orderID"]))
    assert canceled["canceled"] == [placed["orderID"]]


@test("posts batches of every resting type, and gets those that cross")
def batches():
    expiration = int(time.time()) + 3600
    placed = maker.post_orders(
        [
            PostOrdersV2Args(order=limit(maker, yes, 0.1, 10), orderType=OrderType.GTC),
            PostOrdersV2Args(
                order=limit(maker, yes, 0.11, 10, expiration=expiration), orderType=OrderType.GTD
            ),
        ]
    )
    assert [result["status"] for result in placed] == ["live", "live"]
    crossing = PostOrdersV2Args(order=limit(taker, no, 0.95, 10), orderType=OrderType.GTC)
    [refusal] = taker.post_orders([crossing], post_only=True)
    assert refusal["success"] is False and "post-only" in refusal["errorMsg"]
    ids = [result["orderID"] for result in placed]
    assert set(maker.cancel_orders(ids)["canceled"]) == set(ids)


@test("trades, and sees the trade confirmed on both sides")
def trades():
    maker.post_order(limit(maker, yes, 0.55, 20))
    fill = taker.post_order(limit(taker, no, 0.45, 20))
    assert fill["status"] == "matched" and len(fill["transactionsHashes"]) == 1
    for client in (maker, taker):
        rows = eventually(
            "the trade", lambda: client.get_trades(TradeParams(market=condition_id)), len
        )
        assert rows[0]["status"] == "CONFIRMED"
    page = taker.get_trades_paginated(TradeParams(id=rows[0]["id"]))
    assert [trade["id"] for trade in page["trades"]] == [rows[0]["id"]]


@test("posts market orders by money and by shares, FOK and FAK")
def market_orders():
    maker.post_order(limit(maker, yes, 0.5, 100))
    eventually(
        "the ask",
        lambda: maker.get_order_book(no),
        lambda one: one["asks"] and one["asks"][-1]["price"] == "0.5",
    )
    bought = taker.create_and_post_market_order(
        MarketOrderArgs(token_id=no, amount=5, side="BUY"), order_type=OrderType.FOK
    )
    assert bought["status"] == "matched" and bought["makingAmount"] == "5"
    maker.post_order(limit(maker, no, 0.3, 10))
    sold = taker.create_and_post_market_order(
        MarketOrderArgs(token_id=no, amount=20, side="SELL", price=0.3, order_type=OrderType.FAK),
        order_type=OrderType.FAK,
    )
    assert sold["status"] == "matched"
    large = MarketOrderArgs(token_id=no, amount=50_000, side="BUY", price=0.55)
    refused(
        lambda: taker.create_and_post_market_order(large, order_type=OrderType.FOK),
        "couldn't be fully filled",
    )
    maker.cancel_all()


@test("cancels by market and everything at once")
def cancels():
    place = lambda: maker.post_order(limit(maker, yes, 0.1, 10))["orderID"]
    for cancel in (
        lambda: maker.cancel_market_orders(OrderMarketCancelParams(market=condition_id)),
        lambda: maker.cancel_market_orders(OrderMarketCancelParams(asset_id=yes)),
        maker.cancel_all,
    ):
        order_id = place()
        assert cancel()["canceled"] == [order_id]
    kept = maker.cancel_orders([order_id])["not_canceled"]
    assert "already canceled or matched" in kept[order_id]


@test("sends heartbeats, and gets the expected id when it sends another")
def beats():
    # A key of its own: some seconds after the last beat all orders of the key are canceled.
    beating = connect(6, nonce=77)
    first = beating.post_heartbeat()["heartbeat_id"]
    second = beating.post_heartbeat(first)["heartbeat_id"]
    assert first != second
    assert second in refused(lambda: beating.post_heartbeat(first), "Invalid Heartbeat ID")
    beating.post_heartbeat(second)


@test("reads books and prices, and computes the same hash")
def books():
    maker.post_order(limit(maker, yes, 0.3, 10))
    book = eventually(
        "the bid",
        lambda: maker.get_order_book(yes),
        lambda one: any(level["price"] == "0.3" for level in one["bids"]),
    )
    assert len(maker.get_order_books([BookParams(token_id=yes)])) == 1
    assert maker.get_price(yes, "BUY")["price"] == "0.3"
    assert maker.get_prices([BookParams(token_id=yes, side="BUY")])[yes]["BUY"] == "0.3"
    assert book["tick_size"] == "0.01"
    assert maker.get_last_trade_price(yes)["price"]
    assert len(maker.get_last_trades_prices([BookParams(token_id=yes)])) == 1
    history = maker.get_prices_history(PricesHistoryParams(market=yes, interval="1h"))
    assert isinstance(history["history"], list)
    maker.cancel_all()


@test("reads midpoints and spreads of many", "POST /midpoints", "POST /spreads")
def many():
    for read in (maker.get_midpoints, maker.get_spreads):
        assert isinstance(read([BookParams(token_id=yes)]), dict)


@test("reads balances, notifications, scoring and recent trades")
def account():
    money = maker.get_balance_allowance(BalanceAllowanceParams(asset_type=AssetType.COLLATERAL))
    assert int(money["balance"]) > 0 and money["allowances"]
    shares = maker.get_balance_allowance(
        BalanceAllowanceParams(asset_type=AssetType.CONDITIONAL, token_id=yes)
    )
    assert int(shares["balance"]) > 0
    maker.update_balance_allowance(BalanceAllowanceParams(asset_type=AssetType.COLLATERAL))
    notices = maker.get_notifications()
    assert notices
    maker.drop_notifications(DropNotificationParams(ids=[str(notices[0]["id"])]))
    order_id = maker.post_order(limit(maker, yes, 0.1, 10))["orderID"]
    assert isinstance(maker.is_order_scoring(OrderScoringParams(orderId=order_id))["scoring"], bool)
    assert order_id in maker.are_orders_scoring(OrdersScoringParams(orderIds=[order_id]))
    maker.cancel_all()
    assert isinstance(maker.get_market_trades_events(condition_id), list)
    assert maker.get_pre_migration_orders() == []


@test("reads rewards", "GET /rewards/markets/current", "GET /rewards/user")
def rewards():
    assert isinstance(maker.get_current_rewards(), list)
    assert isinstance(maker.get_earnings_for_user_for_day("2026-11-20"), list)


@test("creates and removes read-only keys, builder keys, and its own key")
def other_keys():
    owner = connect(8)
    key = owner.create_readonly_api_key()["apiKey"]
    assert key in owner.get_readonly_api_keys()
    assert owner.delete_readonly_api_key(key)
    builder = owner.create_builder_api_key()
    assert any(one["key"] == builder["key"] for one in owner.get_builder_api_keys())
    assert owner.revoke_builder_api_key() == "OK"
    assert owner.delete_api_key() == "OK"
    refused(owner.get_api_keys, "Unauthorized")


run_all()
