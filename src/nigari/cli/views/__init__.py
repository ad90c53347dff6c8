"""Views: results as people and programs are shown them."""
