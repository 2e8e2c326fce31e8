import Operation
import OperationFleet
import OperationHTTP
import OperationPersistence

// What needs a trait that is switched off.

func storages() throws {
  // expected-error@+1 {{switch on the trait SwiftOperationSQLite}}
  _ = try SQLiteStorage(path: "storage.sqlite")
  // expected-error@+1 {{switch on the trait SwiftOperationPostgreSQL}}
  _ = try PostgreSQLStorage(connection: "dbname=app")
  // expected-error@+1 {{switch on the trait SwiftOperationPostgreSQL}}
  _ = try PostgreSQLFleet(connection: "dbname=app", maximumConnections: 8)
  // expected-error@+1 {{switch on the trait SwiftOperationValkey}}
  _ = try ValkeyFleet(connection: "redis://cache.example")
}

func transports(_ client: some Sendable) {
  // expected-error@+1 {{switch on the trait SwiftOperationAsyncHTTPClient}}
  _ = AsyncHTTPClientTransport.shared
  // expected-error@+1 {{switch on the trait SwiftOperationAsyncHTTPClient}}
  _ = AsyncHTTPClientTransport(client, timeout: .seconds(5))
}

func keys() throws {
  // expected-error@+1 {{switch on the trait SwiftOperationCrypto}}
  _ = try ChaChaPolyKey([1, 2, 3])
}

func logs(_ query: some QueryRequest<Int, any Error>) {
  // expected-error@+1 {{switch on the trait SwiftOperationLogging}}
  _ = query.logDuration()
  // expected-error@+1 {{switch on the trait SwiftOperationLogging}}
  _ = query.logDuration("numbers")
  // expected-error@+1 {{switch on the trait SwiftOperationLogging}}
  _ = query.logDuration(.debug)
}

// expected-error@+1 2 {{switch on the trait SwiftOperationMacros}}
@QueryRequest
func number() async throws -> Int { 1 }

// expected-error@+1 2 {{switch on the trait SwiftOperationMacros}}
@PaginatedRequest(initialPageId: 0, next: \.last?.id, previous: { (page: [Int]) in page.first })
func numbers(page: Int) async throws -> [Int] { [page] }
