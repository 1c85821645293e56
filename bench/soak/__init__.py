"""Many customers at once on a database that is restarted again and again and a model that fails now and then."""
