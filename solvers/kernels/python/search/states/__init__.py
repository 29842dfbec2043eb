"""What the placements so far lead to, block by block and clique by clique: once where all blocks are plain, once for all others."""
