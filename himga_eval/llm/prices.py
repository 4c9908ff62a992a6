"""What tokens cost, by the tables of genai-prices."""

from __future__ import annotations

from functools import cache

from himga_eval.llm.base import Usage


def price(usage: Usage, model: str, provider: str | None) -> float | None:
    """Price the tokens of one call in dollars; None where the provider's or the model's price is not known.

    Some models cost more a token in a long call, so that the tokens of several calls have no price together.
    """
    if provider is None:
        return None
    try:
        rates = _rates(model, provider)
        if rates is None:
            return _calculated(usage, model, provider)
    except LookupError:
        return None
    fresh = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
    counts = (fresh, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return sum(count * rate for count, rate in zip(counts, rates, strict=True))


@cache
def _rates(model: str, provider: str) -> tuple[float, ...] | None:
    """Dollars a token: fresh input, output, read from the cache, written to it. None where they depend on the length.

    Kept, since genai-prices takes a tenth of the time of a whole call to work one price out.
    """
    from genai_prices import calc_price
    from genai_prices.types import TieredPrices

    found = calc_price(Usage(), model, provider_id=provider).model_price
    if any(isinstance(rate, TieredPrices) for rate in vars(found).values()):
        return None
    return tuple(
        _calculated(one, model, provider) for one in (Usage(1), Usage(0, 1), Usage(1, 0, 1), Usage(1, 0, 0, 1))
    )


def _calculated(usage: Usage, model: str, provider: str) -> float:
    from genai_prices import calc_price

    return float(calc_price(usage, model, provider_id=provider).total_price)
