"""HATS catalogues: Parquet files partitioned by HEALPix pixels, as the IVOA Note "HATS" 1.0 describes them.

Names, partitions and properties only: no files are read or written here.
"""
