"""Kills processes in the middle of turns, takes the threads up again, and looks for what was lost or done twice."""
