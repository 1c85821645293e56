"""The shop: the business that ships with Steward."""

from graph.shop.business import SHOP

__all__ = ["SHOP"]
