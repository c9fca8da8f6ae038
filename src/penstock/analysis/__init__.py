"""What an input pipeline costs, why, and what would change it."""
