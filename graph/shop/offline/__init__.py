"""The shop's rules and wording for the offline demo model."""

from __future__ import annotations

from graph.offline import OfflineModel
from graph.shop.offline.script import ShopScript
from nodes.settings import NodeSettings, Role


def offline_model(role: Role, settings: NodeSettings) -> OfflineModel:
    """The demo model in one role."""
    return OfflineModel(role=role, script=ShopScript())


__all__ = ["ShopScript", "offline_model"]
