import OperationCore
import OperationFoundation
import OperationFreshness
import OperationTesting
import TestFixtures

typealias IntScript = OperationScript<Int, any Error>
typealias IntStore = OperationStore<QueryState<Int, any Error>>
typealias IntHandler = QueryEventHandler<QueryState<Int, any Error>>

/// A query whose body is a closure.
struct BodyQuery: QueryRequest {
  let path: OperationPath
  let body: @Sendable (OperationContext, OperationContinuation<Int, any Error>) async throws -> Int

  init(
    path: OperationPath = ["body"],
    _ body: @escaping @Sendable (OperationContext, OperationContinuation<Int, any Error>) async throws -> Int
  ) {
    self.path = path
    self.body = body
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.body(context, continuation)
  }
}

/// A server whose responses have header fields.
final class Server: Sendable {
  struct Response: Sendable {
    var result: Result<Int, Refused> = .success(0)
    var fields: [(String, String)] = []
    var isNotModified = false
  }

  private let responses = Box<[Response]>([])
  let requests = Log<[String]>()

  func enqueue(_ value: Int, _ fields: (String, String)...) {
    self.responses.value.append(Response(result: .success(value), fields: fields))
  }

  func refuse(_ fields: (String, String)...) {
    self.responses.value.append(Response(result: .failure(Refused()), fields: fields))
  }

  func confirm(_ fields: (String, String)...) {
    self.responses.value.append(Response(fields: fields, isNotModified: true))
  }

  /// Asks the server, as a body does.
  func answer(_ context: OperationContext) throws -> Int {
    let fields = context.validators?.headerFields ?? []
    self.requests.append(fields.map { "\($0.0): \($0.1)" })
    var rest = self.responses.value
    let response = rest.removeFirst()
    self.responses.value = rest
    if !response.fields.isEmpty { context.freshness = OperationHTTPFreshness(headerFields: response.fields) }
    if response.isNotModified, let value = context.revalidatedValue(as: Int.self) { return value }
    return try response.result.get()
  }

  func query(path: OperationPath = ["served"]) -> BodyQuery {
    BodyQuery(path: path) { context, _ in try self.answer(context) }
  }
}

/// A date `seconds` after the beginning of a manual clock.
func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

/// Numbers that a test chooses, for a jitter: each is drawn as that share of the largest number.
final class ChosenShares: Sendable {
  private let shares: Box<[Double]>
  let count = Counter()

  init(_ shares: Double...) {
    self.shares = Box(shares)
  }

  var generator: some RandomNumberGenerator & Sendable { Generator(shares: self) }

  private struct Generator: RandomNumberGenerator, Sendable {
    let shares: ChosenShares

    mutating func next() -> UInt64 {
      self.shares.count.increment()
      var rest = self.shares.shares.value
      let share = rest.isEmpty ? 0 : rest.removeFirst()
      self.shares.shares.value = rest
      // The middle of the numbers that the standard library maps to one result, so that it never draws again.
      let base: UInt64 = share >= 1 ? ~2047 : UInt64(share * 0x1p64) & ~2047
      return base | ((0x8000_0000_0000_0000 &- base) >> 53)
    }
  }
}

extension OperationClient {
  /// A client that keeps its idle stores, and needs no deadlines for them.
  static var keeping: OperationClient { OperationClient(storeCache: KeepingCache()) }

  private struct KeepingCache: StoreCache {
    func storeDidBecomeIdle(_ store: IdleStore) {}
    func storeDidBecomeActive(_ id: IdleStore.ID) {}
  }
}
