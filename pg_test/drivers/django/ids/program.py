from datetime import timedelta

from django.db.models import BigIntegerField, BooleanField, F, Func, Value
from django.db.models.expressions import RawSQL
from django.utils import timezone

from ids.models import Event, Item, Message


def point(text, holds):
    print(f"{'ok' if holds else 'not ok'} {text}")


class Between(Func):
    function = "snowflake_between"
    output_field = BooleanField()


class NextIds(Func):
    function = "snowflake_next_ids"
    output_field = BigIntegerField()
    set_returning = True


def main():
    since = timezone.now() - timedelta(minutes=1)
    until = since + timedelta(minutes=2)
    one = Message.objects.create(body="hello")
    point("insert one", one.id > 2**60 and Event.objects.create().id.version == 7)

    # The ids of bulk_create are not read back: minted first, they are known.
    ids = list(Message.objects.annotate(new=NextIds(5, 100)).values_list("new", flat=True))
    Message.objects.bulk_create(Message(id=id, body=f"hello {n}") for n, id in enumerate(ids))
    Message.objects.bulk_create(Message(body="later") for _ in range(100))
    later = Message.objects.filter(body="later", id__gt=one.id).values_list("id", flat=True)
    point("insert many", len({*ids, *later}) == 200)

    point("read back", Message.objects.get(id=ids[7]).body == "hello 7")

    def within(*span):
        return Message.objects.filter(Between(F("id"), *(Value(at) for at in span))).count()

    point("range by time", within(since, until) == 201 and within(since - timedelta(days=1), since) == 0)

    minted = Message.objects.filter(id=one.id).annotate(
        at=RawSQL("snowflake_time(snowflake_next_id(%s, %s), %s)", [5, "twitter", "twitter"])
    )
    point("layout as a parameter", since < minted.get().at < until)

    item = Item.objects.create(name="lamp")
    point("objectid", len(item.id) == 24 and Item.objects.get(id=item.id).name == "lamp")
