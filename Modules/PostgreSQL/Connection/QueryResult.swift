#if SwiftOperationPostgreSQL
  internal import OperationLibPQ

  /// A result of libpq, which is freed at its end and never before.
  struct QueryResult: ~Copyable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
      self.pointer = pointer
    }

    deinit {
      PQclear(self.pointer)
    }

    /// Whether it is a part of a statement that copies a table, which this library never sends.
    var isCopying: Bool {
      let status = PQresultStatus(self.pointer)
      return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH
    }

    /// The rows, which no longer depend on the result, or the error of the server.
    func rows(_ name: ConnectionName) -> Result<[QueryRow], PostgreSQLError> {
      switch PQresultStatus(self.pointer) {
      case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .success([])
      case PGRES_TUPLES_OK: .success(self.copiedRows)
      default: .failure(self.error(name))
      }
    }

    private var copiedRows: [QueryRow] {
      let columns = PQnfields(self.pointer)
      return (0..<PQntuples(self.pointer)).map { row in
        QueryRow(
          cells: (0..<columns).map { column in
            if PQgetisnull(self.pointer, row, column) == 1 { return nil }
            let count = Int(PQgetlength(self.pointer, row, column))
            let bytes = UnsafeRawBufferPointer(start: PQgetvalue(self.pointer, row, column), count: count)
            return Array(bytes)
          }
        )
      }
    }

    private func error(_ name: ConnectionName) -> PostgreSQLError {
      func field(_ code: Character) -> String? {
        PQresultErrorField(self.pointer, CInt(code.asciiValue ?? 0)).map { String(cString: $0) }
      }
      // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY and PG_DIAG_MESSAGE_DETAIL, which are not imported.
      if let state = field("C"), let message = field("M") {
        // The details of wrong data and violated constraints are keys and values.
        let hasData = state.hasPrefix("22") || state.hasPrefix("23")
        let detail = hasData ? "" : field("D").map { " (\($0))" } ?? ""
        return PostgreSQLError(sqlState: state, message + detail, name)
      }
      return .unavailable("\(name)", PQresultErrorMessage(self.pointer).sentence)
    }
  }

  /// A row of a result, in PostgreSQL's binary format.
  struct QueryRow: Sendable {
    fileprivate let cells: [[UInt8]?]

    func bytes(_ column: Int) -> [UInt8]? { self.cells.indices.contains(column) ? self.cells[column] : nil }

    func text(_ column: Int) -> String? { self.bytes(column).map { String(decoding: $0, as: UTF8.self) } }

    func boolean(_ column: Int) -> Bool? { self.bytes(column)?.first.map { $0 != 0 } }

    /// A number of up to eight bytes; nil for null.
    func integer(_ column: Int) -> Int64? {
      guard let bytes = self.bytes(column), let first = bytes.first, bytes.count <= 8 else { return nil }
      return bytes.reduce(first & 0x80 == 0 ? 0 : -1) { $0 << 8 | Int64($1) }
    }
  }

  extension UnsafeMutablePointer<CChar>? {
    /// A message of libpq, without the end of its line.
    var sentence: String { self.map { UnsafePointer($0) }.sentence }
  }

  extension UnsafePointer<CChar>? {
    /// A message of libpq, without the end of its line.
    var sentence: String {
      guard let self else { return "unknown" }
      let lines = String(cString: self).split(whereSeparator: \.isNewline)
      let text = lines.map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
      return text.isEmpty ? "unknown" : text
    }
  }
#endif
