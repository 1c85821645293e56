"""Recall and writing over very many memories of very many users.

python -m bench.scale DATA_DIR [--memories 1000000 --users 10000 --largest 20000]
"""
