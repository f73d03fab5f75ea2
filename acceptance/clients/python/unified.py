"""polymarket-client 0.9.0, the client in Python for trading and reading; it parses every response with pydantic models."""

import time
from dataclasses import replace
from decimal import Decimal

from eth_account import Account
from exchange import (
    clob_url,
    data_url,
    event_count,
    eventually,
    gamma_url,
    markets,
    refused,
    run_all,
    test,
    wallet_keys,
)
from polymarket import PRODUCTION, PublicClient, SecureClient
from polymarket.environments import _create_environment

environment = _create_environment(
    name="exchange",
    config=replace(PRODUCTION._config, clob_url=clob_url, gamma_url=gamma_url, data_url=data_url),
)
condition_id = markets[4]["conditionId"]
yes, no = markets[4]["tokenIds"]


def connect(index):
    key = wallet_keys[index]
    wallet = Account.from_key(key).address
    return SecureClient.create(private_key=key, wallet=wallet, environment=environment)


anyone = PublicClient(environment=environment)
maker = connect(6)
taker = connect(7)


def first(paginator):
    return paginator.first_page().items


def shown(read):
    """Waits until a read has data; boards and positions come after the trades."""
    return eventually("anything", read, bool)


@test("lists its keys, and is not limited to closing")
def keys():
    assert maker.credentials.key in maker.fetch_api_keys()
    assert maker.get_closed_only_mode() is False


@test("places resting orders one by one and together, reads and cancels them")
def resting():
    placed = maker.place_limit_order(
        token_id=yes, price="0.2", size=10, side="BUY", post_only=True
    )
    assert placed.ok and placed.status == "live", placed
    assert maker.get_order(order_id=placed.order_id).id == placed.order_id
    assert [order.id for order in first(maker.list_open_orders(market=condition_id))] == [
        placed.order_id
    ]
    assert placed.order_id in maker.cancel_order(order_id=placed.order_id).canceled
    both = maker.post_orders(
        [
            maker.create_limit_order(token_id=yes, price="0.1", size=10, side="BUY"),
            maker.create_limit_order(
                token_id=yes,
                price="0.11",
                size=10,
                side="BUY",
                expiration=int(time.time()) + 3600,
            ),
        ]
    )
    assert [one.status for one in both] == ["live", "live"]
    ids = [one.order_id for one in both]
    assert set(maker.cancel_orders(order_ids=ids).canceled) == set(ids)


@test("trades, and waits until the fill is settled")
def trades():
    maker.place_limit_order(token_id=yes, price="0.55", size=100, side="BUY")
    crossing = dict(token_id=no, price="0.6", size=10, side="BUY", post_only=True)
    refused(lambda: taker.place_limit_order(**crossing), "post-only")
    fill = taker.place_limit_order(token_id=no, price="0.45", size=20, side="BUY")
    assert fill.status == "matched"
    assert len(taker.wait_for_order_fill_settlement(fill, timeout_s=10)) == 1
    assert "CONFIRMED" in first(maker.list_account_trades(market=condition_id))[0].status


@test("buys for a budget, with and without a highest price, and sells shares")
def market_orders():
    for kind in (
        {"amount": 5, "order_type": "FOK"},
        {"amount": "5.33", "max_price": "0.47", "order_type": "FAK"},
        {"amount": "3.33", "max_price": "0.46", "order_type": "FOK"},
    ):
        bought = taker.place_market_order(token_id=no, side="BUY", **kind)
        assert bought.ok and bought.status == "matched", bought
    maker.cancel_all()
    maker.place_limit_order(token_id=no, price="0.4", size=10, side="BUY")
    # The client takes its price from the book, which follows the log.
    eventually(
        "the bid",
        lambda: anyone.get_order_book(token_id=no),
        lambda book: book.bids and not book.asks,
    )
    sold = taker.place_market_order(token_id=no, side="SELL", shares=10, order_type="FOK")
    assert sold.status == "matched"


@test("cancels by market, by token and everything")
def cancels():
    maker.cancel_all()
    for cancel in (
        lambda: maker.cancel_market_orders(market=condition_id),
        lambda: maker.cancel_market_orders(token_id=yes),
        maker.cancel_all,
    ):
        placed = maker.place_limit_order(token_id=yes, price="0.1", size=10, side="BUY")
        assert list(cancel().canceled) == [placed.order_id]


@test("reads balances, notifications and scoring")
def account():
    assert maker.get_balance_allowance(asset_type="COLLATERAL").balance > 0
    shares = maker.get_balance_allowance(asset_type="CONDITIONAL", token_id=yes)
    assert shares.balance > 0
    notices = maker.get_notifications()
    assert notices
    maker.drop_notifications(ids=[notices[0].id])
    placed = maker.place_limit_order(token_id=yes, price="0.1", size=10, side="BUY")
    assert isinstance(maker.get_order_scoring(order_id=placed.order_id), bool)
    assert placed.order_id in maker.get_orders_scoring(order_ids=[placed.order_id])
    maker.cancel_all()


@test("reads books, prices and histories", "POST /midpoints", "POST /spreads")
def books():
    maker.place_limit_order(token_id=yes, price="0.4", size=30, side="BUY")
    taker.place_limit_order(token_id=no, price="0.5", size=30, side="BUY")
    eventually(
        "both sides",
        lambda: anyone.get_order_book(token_id=yes),
        lambda book: book.bids and book.asks,
    )
    assert anyone.get_midpoint(token_id=yes) == Decimal("0.45")
    assert anyone.get_spread(token_id=yes) == Decimal("0.1")
    assert anyone.get_price(token_id=yes, side="BUY") == Decimal("0.4")
    assert anyone.get_last_trade_price(token_id=yes).price > 0
    assert isinstance(anyone.get_price_history(token_id=yes, interval="1h"), tuple)
    estimate = anyone.estimate_market_price(token_id=yes, side="BUY", amount=5)
    assert estimate == Decimal("0.5")


@test("reads markets, events, series, tags and searches")
def catalog():
    assert len(first(anyone.list_markets(page_size=5))) == 5
    assert sum(len(page.items) for page in anyone.list_markets(page_size=4)) == len(markets)
    events = first(anyone.list_events())
    assert len(events) == event_count and all(event.markets for event in events)
    market = anyone.get_market(slug="compat-readers")
    assert market.condition_id == condition_id
    event = anyone.get_event(slug="compat-plain")
    assert len(anyone.get_event(id=event.id).markets) == 5
    assert len(anyone.get_event_tags(event.id)) >= 2
    anyone.get_market_tags(market.id)
    series = first(anyone.list_series())
    assert anyone.get_series(series[0].id).id == series[0].id
    assert len(first(anyone.list_tags())) >= 4
    tag = anyone.get_tag(slug="compat")
    assert anyone.get_related_tags(id=tag.id)
    assert anyone.get_related_tag_resources(slug="compat")
    assert len(first(anyone.search(q="compat"))[0].events) == event_count
    assert len(anyone.get_sports()) == 0
    anyone.get_sports_market_types()
    assert len(first(anyone.list_teams())) == 0


@test("reads positions and holders")
def positions():
    user = Account.from_key(wallet_keys[7]).address
    shown(lambda: first(anyone.list_positions(user=user)))
    shown(lambda: first(taker.list_positions()))
    eventually(
        "holders of both outcomes",
        lambda: anyone.get_market_holders(market=[condition_id]),
        lambda both: len(both) == 2,
    )


@test("reads public trades", "GET /trades")
def public_trades():
    shown(lambda: first(anyone.list_trades(market=[condition_id])))


@test("reads activity", "GET /activity")
def activity():
    shown(lambda: first(taker.list_activity()))


@test("reads closed positions, values and counts", "GET /closed-positions", "GET /value", "GET /traded")
def portfolio():
    first(taker.list_closed_positions())
    shown(lambda: taker.get_portfolio_values()[0].value > 0)
    shown(lambda: taker.get_traded_market_count().traded >= 1)


@test("reads open interest and live volume", "GET /oi", "GET /live-volume")
def interest():
    interests = shown(lambda: anyone.get_open_interests(market=[condition_id]))
    assert len(interests) == 1
    anyone.get_event_live_volumes(id=anyone.get_event(slug="compat-plain").id)


@test("reads positions of a market", "GET /v1/market-positions")
def market_positions():
    shown(lambda: first(anyone.list_market_positions(market=condition_id)))


@test("reads leaderboards", "GET /v1/leaderboard", "GET /v1/builders/leaderboard")
def leaderboards():
    shown(lambda: first(anyone.list_trader_leaderboard()))
    first(anyone.list_builder_leaderboard())
    anyone.get_builder_volumes()


@test("reads rewards", "GET /rewards/markets/current")
def rewards():
    assert first(anyone.list_current_rewards())
    first(anyone.list_market_rewards(condition_id=condition_id))
    first(maker.list_user_earnings_for_day(date="2026-11-20"))
    maker.get_reward_percentages()


@test("reads profiles", "GET /public-profile")
def profiles():
    assert anyone.get_public_profile(Account.from_key(wallet_keys[7]).address)


@test("reads comments with their reactions", "GET /comments")
def comments():
    event = anyone.get_event(slug="compat-plain")
    rows = first(anyone.list_comments(parent_entity_id=event.id, parent_entity_type="Event"))
    liked = next(row for row in rows if row.reactions)
    assert liked.reactions[0].comment_id == int(liked.id)
    about_all = first(anyone.list_comments_by_user_address(address=liked.user_address))
    assert None in {row.parent_entity_type for row in about_all}


@test("creates and removes keys")
def other_keys():
    owner = connect(8)
    builder = owner.create_builder_api_key()
    assert any(one.key == builder.key for one in owner.fetch_builder_api_keys())
    owner.delete_api_key()
    refused(owner.fetch_api_keys, "Unauthorized")


@test("cancels what is left")
def leave():
    maker.cancel_all()
    taker.cancel_all()


run_all()
