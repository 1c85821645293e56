"""Pairs of statements that replace, refine, contradict or only resemble one another: which of them hold at the end?"""
