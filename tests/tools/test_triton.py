"""What is stored of the Triton kernels of the tests, looked at without Triton."""

from tools.kernels import stored, triton

PTX = """.visible .entry add() // one kernel
{
	.loc	2 16 0, function_name $L__info_string0, inlined_at 1 9 0
	ret;
}
	.file	1 "/home/somebody/kernels.py"
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
	}
	.section	.debug_str
	{
$L__info_string0:
.b8 97
	}
	.section	.debug_macinfo	{	}
"""
PLAIN = """.visible .entry add()
{
.loc	2 16 0, function_name $L__info_string0, inlined_at 1 9 0
ret;
}
.file	1 "kernels.py"
.section	.debug_str
{
$L__info_string0:
.b8 97
}
"""


def test_the_stored_texts_are_of_these_kernels_and_this_lock() -> None:
    index, texts = stored.read(triton.STORED)
    assert index["sources"] == triton.sources(), triton.COMMAND
    assert index["texts"].keys() == texts.keys()


def test_a_text_keeps_its_lines_and_what_they_refer_to_and_names_no_folder() -> None:
    assert stored.plain(PTX) == PLAIN
