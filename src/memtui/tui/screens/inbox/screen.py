"""The inbox: everything that waits for the person's decision, worst first."""
