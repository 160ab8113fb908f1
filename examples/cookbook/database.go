package main

import (
	"database/sql"
	"database/sql/driver"
	"encoding/csv"
	"errors"
	"io"
	"os"
)

func init() { sql.Register("visits", database{}) }

// A database is a driver of database/sql, and its own connection and statement. It answers each
// query with four columns of visits.csv.
type database struct{}

func (d database) Open(string) (driver.Conn, error)    { return d, nil }
func (d database) Prepare(string) (driver.Stmt, error) { return d, nil }
func (database) Begin() (driver.Tx, error)             { return nil, errors.ErrUnsupported }
func (database) NumInput() int                         { return 0 }
func (database) Close() error                          { return nil }

func (database) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

func (database) Query([]driver.Value) (driver.Rows, error) {
	file, err := os.Open("visits.csv")
	if err != nil {
		return nil, err
	}
	table := csv.NewReader(file)
	_, err = table.Read() // the header
	return result{file, table}, err
}

// A result has the rows of a query.
type result struct {
	io.Closer
	table *csv.Reader
}

func (result) Columns() []string { return []string{"id", "day", "bili", "chol"} }

func (r result) Next(row []driver.Value) error {
	fields, err := r.table.Read()
	if err != nil {
		return err
	}
	for i, column := range []int{0, 6, 11, 12} {
		row[i] = fields[column]
		if fields[column] == "NA" {
			row[i] = nil
		}
	}
	return nil
}
