"""How large products are computed: tiles, threads, and loops for the vector unit, with the NumPy way beside them.

::

    tiles.py          how work is cut and dealt to threads
    pairs.py          tiles of products of two sets of rows, and of their exponentials
    product.py        a symmetric matrix of tiles times a few vectors
    scatter.py        sums of A'A over blocks of rows
    vector_loops.py   loops for registers of 64 bytes, compiled when first needed (llvm_loops.py, llvm_code.py)
"""
