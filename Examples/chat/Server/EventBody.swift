import FlyingFox
import FlyingSocks
import Foundation

/// The body of an answer that goes on for as long as its stream does.
struct EventBody: AsyncBufferedSequence {
  typealias Element = UInt8

  let parts: AsyncThrowingStream<Data, any Error>

  func makeAsyncIterator() -> Iterator { Iterator(parts: self.parts.makeAsyncIterator()) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    var parts: AsyncThrowingStream<Data, any Error>.Iterator
    private var rest: [UInt8] = []

    init(parts: AsyncThrowingStream<Data, any Error>.Iterator) {
      self.parts = parts
    }

    mutating func next() async throws -> UInt8? { try await self.nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      while self.rest.isEmpty {
        guard let part = try await self.parts.next() else { return nil }
        self.rest = Array(part)
      }
      defer { self.rest.removeFirst(Swift.min(count, self.rest.count)) }
      return Array(self.rest.prefix(count))
    }
  }
}
