"""A card patch is whole cards that loading takes, with the names that are new to them."""

import unicodedata
from pathlib import Path

from review.patching.desk import CARD
from service.decode import Caps
from service.files.readers import read_cards
from service.review.patching.cards import lines, patched


def test_names_come_behind_those_of_the_card_each_once() -> None:
    patch = patched(CARD, ["모래성", "숲", "바람골", "모래성"])
    assert patch.after.canon_entities == ("숲", "여울", "모래성", "바람골")
    assert patch.names == ("모래성", "바람골")
    assert patch.after._replace(canon_entities=CARD.canon_entities) == CARD
    assert patch.before is CARD


def test_a_name_is_the_same_in_any_form_of_its_syllables() -> None:
    decomposed = unicodedata.normalize("NFD", "여울")
    assert patched(CARD, [decomposed]).names == ()
    assert patched(CARD, ["모래성", unicodedata.normalize("NFD", "모래성")]).names == ("모래성",)


def test_a_patch_is_a_file_of_whole_cards(tmp_path: Path) -> None:
    file = tmp_path / "patch.jsonl"
    patches = [
        patched(CARD, ['"쉼표", 줄\n바꿈']),
        patched(CARD._replace(character_id="돌", profile="extended"), ["강"]),
    ]
    file.write_bytes(lines(patch.after for patch in patches))
    loaded = read_cards(str(file), Caps())
    assert loaded.refused == ()
    assert loaded.records == tuple(patch.after for patch in patches)
