"""What tokens cost: prices from a file that people edit, and what a run came to."""

from dsqa.prices.average import AverageCost, average_cost
from dsqa.prices.cost import cost_of, total_cost, usage_cost
from dsqa.prices.load import find_prices, load_prices, recorded_prices, save_prices
from dsqa.prices.model import Money, Price, Prices, format_money

__all__ = [
    "AverageCost",
    "Money",
    "Price",
    "Prices",
    "average_cost",
    "cost_of",
    "find_prices",
    "format_money",
    "load_prices",
    "recorded_prices",
    "save_prices",
    "total_cost",
    "usage_cost",
]
