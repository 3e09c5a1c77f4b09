import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;

/** Prints a message as JSON, and reads it back. */
public class Jackson {
    public static class Message {
        @JsonFormat(shape = JsonFormat.Shape.STRING) public long id;
        @JsonProperty("author_id")
        @JsonFormat(shape = JsonFormat.Shape.STRING) public Long authorId;
    }

    public static void main(String[] arguments) throws Exception {
        var message = new Message();
        message.id = Long.parseLong(System.getenv("ID"));
        message.authorId = Long.valueOf(System.getenv("AUTHOR"));
        var mapper = new ObjectMapper();
        var text = mapper.writeValueAsString(message);
        System.out.println(text);
        var back = mapper.readValue(text, Message.class);
        if (back.id != message.id || !back.authorId.equals(message.authorId)) throw new Exception("the ids are not read back");
    }
}
