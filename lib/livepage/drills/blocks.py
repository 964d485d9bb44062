"""A list that records whether a function reads it in blocks.

Like the graders, this module runs in CPython and in the page's MicroPython. Drills whose
prompt asks for blocks import it. The list only records. The drill's ``drive`` raises what
``fault()`` returns after the results, so a wrong number is reported before a wrong way to
read the list.
"""


class Blocks:
    """A list that records the sizes of its slices.

    Parameters
    ----------
    name : str
        The plural noun for the items.
    items : list
    block : int
        The length that a slice has to have. The last slice of the list may be shorter.
    once : bool
        Whether all slices together may read each item only once.
    """

    def __init__(self, name, items, block, once=False):
        self.name, self.items, self.block, self.once = name, items, block, once
        self.start = 0  # index of the first item in the original list
        self.notes = {"sizes": [], "wrong": [], "alone": set(), "all": len(items)}

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        for index in range(len(self.items)):
            yield self[index]

    def __getitem__(self, key):
        part = self.items[key]
        if not isinstance(key, slice):
            self.notes["alone"].add(self.start + key % len(self.items))
            return part
        start = key.start or 0
        if start < 0:
            start = max(0, start + len(self.items))
        if key.stop is None and len(part) > self.block:
            return self._rest(start, part)
        self._note(len(part), start + len(part) == len(self.items))
        return part

    def _rest(self, start, items):
        """Return the list from an index on. This does not count as reading the items."""
        rest = Blocks(self.name, items, self.block, self.once)
        rest.start, rest.notes = self.start + start, self.notes
        return rest

    def _note(self, size, last):
        self.notes["sizes"].append(size)
        if size > self.block or (0 < size < self.block and not last):
            self.notes["wrong"].append(size)

    def fault(self):
        """Return what is wrong with the reads, or an empty text."""
        sizes, wrong, alone = [self.notes[n] for n in ("sizes", "wrong", "alone")]
        if wrong:
            said = "one of your slices holds %d of the %s; a block has %d"
            return said % (wrong[0], self.name, self.block)
        if len(alone) > self.block:
            said = (
                "your code reads %d %s without a slice, as `max` or a loop over all of "
                "them does; read them in slices of %d"
            )
            return said % (len(alone), self.name, self.block)
        if self.once and sum(sizes) > self.notes["all"]:
            said = "your slices hold %d %s in all, and each of them once would make %d"
            return said % (sum(sizes), self.name, self.notes["all"])
        return ""
