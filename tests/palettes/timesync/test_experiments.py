"""The paper's experiments: counts on the example, visited nodes, arrival orders."""

from millstream.lab.papers.synchronisation import events_of, figure_6, figures_4_and_5, table_1


def test_table_1_the_tree_compares_less_than_a_linked_list_and_moves_no_more_than_an_array():
    rows = {row["structure"]: row for row in table_1()}
    assert rows["binary tree"]["comparisons"] < rows["linked list"]["comparisons"]
    assert rows["binary tree"]["updates"] <= rows["indexed list"]["updates"]
    assert (rows["binary tree"]["paper comparisons"], rows["binary tree"]["paper updates"]) == (30, 17)


def test_figure_5_visited_nodes_grow_linearly_with_the_streams():
    small, large = figures_4_and_5((10, 100), events=1000)
    assert small["method 2 visited"] <= small["method 1 visited"]
    assert 5 < large["method 1 visited"] / small["method 1 visited"] < 15


def test_delayed_streams_stay_in_order():
    arrivals = events_of(4, 200, (30.0, 5.0))
    assert [t for k, t in arrivals if k == 0] == sorted(t for k, t in arrivals if k == 0)
    assert [t for _, t in arrivals] != sorted(t for _, t in arrivals)


def test_figure_6_has_a_row_for_each_number_of_streams():
    rows = figure_6((1, 4), (100.0, 0.0), events=100)
    assert [(row["first"], row["second"], row["streams"]) for row in rows] == [(100, 0, 1), (100, 0, 4)]
