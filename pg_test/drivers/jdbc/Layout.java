import java.sql.*;
import java.util.*;

/** A layout as a String, which pgJDBC sends as varchar: setObject calls setString. */
public class Layout {
    private static final String TWITTER = "twitter";
    private static final long TWEET = 454947766275222906L;

    public static void main(String[] arguments) throws SQLException {
        var calls = new LinkedHashMap<String, List<Object>>();
        calls.put("snowflake_time(snowflake_next_id(?, ?), ?) > now() - interval '1 minute'", List.of(5, TWITTER, TWITTER));
        calls.put("(SELECT count(*) FROM snowflake_next_ids(?, ?, ?)) = 3", List.of(5, 3, TWITTER));
        calls.put("snowflake_time(?, ?) BETWEEN '2014-04-01' AND '2014-05-01'", List.of(TWEET, TWITTER));
        calls.put("snowflake_between(?, '2014-04-01', '2014-05-01', ?)", List.of(TWEET, TWITTER));
        // A shard of type long is too wide, and needs a cast.
        calls.put("snowflake_next_id(?::int) > 0", List.of(5L));
        var env = System.getenv();
        var address = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
        try (var connection = DriverManager.getConnection(address, env.get("PGUSER"), "")) {
            calls.forEach((call, values) -> {
                try (var statement = connection.prepareStatement("SELECT " + call)) {
                    report(call, value(statement, values));
                } catch (SQLException error) {
                    report(call, error.getMessage().lines().findFirst().get());
                }
            });
        }
    }

    private static Object value(PreparedStatement statement, List<Object> values) throws SQLException {
        int place = 1;
        for (var value : values) {
            statement.setObject(place++, value);
        }
        var row = statement.executeQuery();
        row.next();
        return row.getObject(1);
    }

    private static void report(String call, Object value) {
        var point = "layout as a parameter of " + call;
        System.out.println(Boolean.TRUE.equals(value) ? "ok " + point : "not ok " + point + ": " + value);
    }
}
