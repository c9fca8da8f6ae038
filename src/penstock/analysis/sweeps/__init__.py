"""Changes that are tried, one figure each: layers, image sizes, models, devices, forms."""
