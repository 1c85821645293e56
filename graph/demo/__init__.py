"""`make demo`: a scripted customer conversation on real parts, shown stage by stage."""
