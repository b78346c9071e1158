"""HATS catalogues: HEALPix-partitioned Parquet files, as the IVOA Note "HATS" 1.0 lays them out.

Names, partitions and properties only: no files are read or written here.
"""
