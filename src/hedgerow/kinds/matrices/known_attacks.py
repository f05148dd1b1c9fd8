"""What is known to undo the methods that distort matrices, for the statement."""

#: what is known to undo each method, with its success on public tables, as docs/results/matrix-distortion.json has it;
#: what the attacks recover from the data at hand is for its owner only
ATTACKS = (
    (
        "Any row, cell, average or relation between columns: all of them may be recovered. The figures below are of "
        "public tables (WBC, WDBC, Wine, Pima), and of attackers who know twice as many rows as there are columns, or, "
        "where it says so, nobody in the release."
    ),
    (
        "Spectral filtering: added noise is removed by keeping the large singular values. No knowledge of the "
        "original is needed. With noise of standard deviation 1, the median error of a row of WDBC falls from 0.60 % "
        "to 0.29 %."
    ),
    (
        "Posteriors of cells: the law of the noise is public, and the release tells that of the numbers, so that each "
        "cell has a most likely range. Whole numbers come back exactly: of the scores of WBC, which go from 1 to 10, "
        "69 % with noise of standard deviation 1 and 58 % with 2, where exchanged rows give 36 %. With a rotation "
        "that known rows tell, it is 65 % with 1."
    ),
    (
        "Known rows: whoever knows about as many rows as there are columns finds the rotation by an orthogonal "
        "Procrustes fit, and with it all other rows. Without noise, 100 % of the cells of all four tables are "
        "recovered."
    ),
    (
        "Rows of other people: whoever knows nobody in the release, and has a sample of people like them, finds the "
        "rotation too. Numbers with few decimals form a lattice that is turned with them: without noise, 97 % of the "
        "cells of WBC, 100 % of those of Wine and 100 % of those of Pima are recovered within 1 %. The cloud of rows "
        "alone tells as well: the median error of a row is 0.4 % on Wine and 1.3 % on WDBC, where guessing means errs "
        "by 34 % and 45 %."
    ),
    (
        "Angles between rows: whoever knows one row finds the rows that are proportional to it. Of the five rows "
        "nearest to it in a rotated WBC, 41 % of the cells are recovered within 1 %."
    ),
    (
        "Inversion of a wavelet release: the threshold that was subtracted from the detail coefficients is added "
        "back; averages of blocks are published exactly. In the order of the rows, with p = 0.1, 100 % of the cells of "
        "WBC are recovered within 1 % after rounding, and with p = 0.5 72 % of those of WBC after weighing what is "
        "left and 35 % of those of WDBC."
    ),
    (
        "Low-rank releases: a release of rank k has k exact equations per row, which numbers with few decimals solve. "
        "With about half of the ranks, 98.0 % of the cells of WDBC and 99.9 % of those of WBC are recovered within 1 "
        "%."
    ),
    (
        "Statistics of columns: with normalise = True, the mean and the standard deviation of every column are those "
        "of the original."
    ),
    (
        "Names and labels of rows, if there are any: they are published as they are. The order of numbered rows "
        "can tell labels too."
    ),
)
