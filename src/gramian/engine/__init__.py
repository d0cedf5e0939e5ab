"""How large products are computed: tiles, threads, and loops for the vector unit, with the NumPy way beside them.

::

    product.py        tiles of products, of their exponentials, and a symmetric matrix of tiles times a few vectors
    scatter.py        sums of A'A over blocks of rows, and factors taken out of a matrix
    tiles.py          how work is cut and dealt to threads
    vector_loops.py   loops for registers of any size, compiled when first needed (llvm_loops.py)

Nothing outside knows of panels, lanes, or how wide registers are.
"""
