"""What tokens cost, by the tables of genai-prices."""

from __future__ import annotations

from himga_eval.llm.base import Usage


def price(usage: Usage, model: str, provider: str | None) -> float | None:
    """Price tokens in dollars; None where the provider's or the model's price is not known."""
    if provider is None:
        return None
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        return float(genai_prices.calc_price(tokens, model, provider_id=provider).total_price)
    except LookupError:
        return None
