import java.sql.*;
import java.time.OffsetDateTime;
import java.util.*;

/** Rows with ids of the database, read back by getGeneratedKeys. */
public class Program {
    private static final String INSERT = "INSERT INTO message (body) VALUES (?)";

    public static void main(String[] arguments) throws SQLException {
        var env = System.getenv();
        var address = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
        try (var connection = DriverManager.getConnection(address, env.get("PGUSER"), "");
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text);"
                    + "CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuid_v7(), body text);"
                    + "CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)");
            point("create", true);

            var one = insert(connection, INSERT, List.of("hello")).get(0);
            var event = (UUID) insert(connection, "INSERT INTO event (body) VALUES (?)", List.of("hello")).get(0);
            point("insert one", (long) one > 1L << 60 && event.version() == 7);

            var bodies = new ArrayList<String>();
            for (int n = 0; n < 100; n++) {
                bodies.add("hello " + n);
            }
            var many = insert(connection, INSERT, bodies);
            point("insert many", new HashSet<>(many).size() == 100);

            // Often enough that the driver prepares it on the server.
            Object body = null;
            for (int n = 0; n < 20; n++) {
                body = one(connection, "SELECT body FROM message WHERE id = ?", many.get(7));
            }
            point("read back", "hello 7".equals(body));

            var now = OffsetDateTime.now();
            var span = "SELECT count(*) FROM message WHERE snowflake_between(id, ?, ?)";
            var all = one(connection, span, now.minusMinutes(1), now.plusMinutes(1));
            var none = one(connection, span, now.minusDays(1), now.minusMinutes(1));
            point("range by time", Long.valueOf(101).equals(all) && Long.valueOf(0).equals(none));

            var item = insert(connection, "INSERT INTO item (name) VALUES (?)", List.of("lamp")).get(0).toString();
            var byCast = one(connection, "SELECT name FROM item WHERE id = ?::objectid", item);
            Object byType;
            try (var find = connection.prepareStatement("SELECT name FROM item WHERE id = ?")) {
                find.setObject(1, item, Types.OTHER);
                byType = first(find);
            }
            point("objectid", "lamp".equals(byCast) && "lamp".equals(byType));
        }
    }

    private static List<Object> insert(Connection connection, String sql, List<String> values) throws SQLException {
        try (var insert = connection.prepareStatement(sql, new String[] {"id"})) {
            for (var value : values) {
                insert.setString(1, value);
                insert.addBatch();
            }
            insert.executeBatch();
            var keys = insert.getGeneratedKeys();
            var ids = new ArrayList<>();
            while (keys.next()) {
                ids.add(keys.getObject(1));
            }
            return ids;
        }
    }

    private static Object one(Connection connection, String sql, Object... values) throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int place = 0; place < values.length; place++) {
                statement.setObject(place + 1, values[place]);
            }
            return first(statement);
        }
    }

    private static Object first(PreparedStatement statement) throws SQLException {
        var row = statement.executeQuery();
        row.next();
        return row.getObject(1);
    }

    private static void point(String text, boolean holds) {
        System.out.println((holds ? "ok " : "not ok ") + text);
    }
}
