#if SwiftOperationDevtools
  internal import FlyingSocks

  /// The messages of a connection as the body of a response, in the form of server-sent events.
  struct EventStreamBody: AsyncBufferedSequence {
    typealias Element = UInt8

    let connection: FeedConnection

    func makeAsyncIterator() -> Iterator { Iterator(lifetime: Lifetime(self.connection)) }

    struct Iterator: AsyncBufferedIteratorProtocol {
      fileprivate let lifetime: Lifetime
      private var bytes: ArraySlice<UInt8> = []

      fileprivate init(lifetime: Lifetime) {
        self.lifetime = lifetime
      }

      mutating func next() async -> UInt8? {
        if self.bytes.isEmpty { self.bytes = (await self.nextBuffer(suggested: 1))?[...] ?? [] }
        return self.bytes.popFirst()
      }

      mutating func nextBuffer(suggested count: Int) async -> [UInt8]? {
        (await self.lifetime.connection.next()).map { Array($0.utf8) }
      }
    }

    /// Ends the connection when the response is no longer sent.
    fileprivate final class Lifetime: Sendable {
      let connection: FeedConnection

      init(_ connection: FeedConnection) {
        self.connection = connection
      }

      deinit { self.connection.end() }
    }
  }
#endif
