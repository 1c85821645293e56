"""The shop: orders, logistics, after-sales, products and chat, as one business on the engine."""

from __future__ import annotations

from graph.shop.evaluation import EVALUATION
from graph.shop.intents import INTENTS
from graph.shop.offline import offline_model
from graph.shop.review_words import STATES
from graph.shop.texts import FOLDER, text
from graph.shop.tools.catalogue import shop_tools
from nodes.business import Business

SHOP = Business(
    name="shop",
    instructions=text("instructions.md"),
    intents=INTENTS,
    tools=shop_tools,
    fallback="chat",
    version="1",
    migrations=FOLDER / "migrations",
    classifiers=FOLDER / "classifiers",
    documents=FOLDER / "documents",
    states=STATES,
    offline=offline_model,
    evaluation=EVALUATION,
)
