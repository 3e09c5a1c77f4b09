# The tables of a shop, as they are after all conversions.
from sqlalchemy import BigInteger, ForeignKey, Identity, Integer, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    name: Mapped[str] = mapped_column(Text)


class Purchase(Base):
    __tablename__ = "purchase"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id), index=True)
    note: Mapped[str] = mapped_column(Text)


class Line(Base):
    __tablename__ = "line"
    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    purchase_id: Mapped[int] = mapped_column(ForeignKey(Purchase.id), index=True)
    amount: Mapped[int] = mapped_column(Integer)
