// Prints a message as JSON, and reads it back.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

type Message struct {
	ID       int64  `json:"id,string"`
	AuthorID *int64 `json:"author_id,string"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func number(variable string) int64 {
	n, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	check(err)
	return n
}

func main() {
	author := number("AUTHOR")
	text, err := json.Marshal(Message{ID: number("ID"), AuthorID: &author})
	check(err)
	fmt.Println(string(text))
	var back Message
	check(json.Unmarshal(text, &back))
	if back.ID != number("ID") || *back.AuthorID != author {
		panic("the ids are not read back")
	}
}
