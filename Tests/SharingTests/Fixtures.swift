import Observation
import OperationTesting
import SharingOperation
import TestFixtures

/// Counts the notifications of a read, and observes the read again after each. For changes on one thread.
final class Watcher: Sendable {
  private let counter = Counter()
  private let read: @Sendable () -> Void

  init(_ read: @escaping @Sendable () -> Void) {
    self.read = read
    self.observe()
  }

  var count: Int { self.counter.value }

  private func observe() {
    withObservationTracking(self.read) { [weak self] in
      guard let self else { return }
      self.counter.increment()
      self.observe()
    }
  }
}

/// A value that compares only its identifiers, so that equal values can differ.
struct Post: Equatable, Sendable {
  var id: Int
  var name = "name"
  var likes = 0
}

/// A value that is not equatable.
struct Opaque: Sendable {
  var number: Int
}

/// A value that is not equatable, with padding between its fields.
struct Padded: Sendable {
  var isSmall = true
  var number: Int
}

/// A value that does not equal itself where a number in it is NaN.
struct Reading: Equatable, Sendable {
  var place: Int
  var degrees: Double
  var former: [Double]
}

/// A client without retries, delays and observers, whose queries are deduplicated.
func makeClient(runsAutomatically: Bool = true) -> OperationClient {
  OperationClient(
    storeCreator: .default(
      retryLimit: 0,
      backoff: .noBackoff,
      delayer: .noDelay,
      automaticRunningSpecification: .always(runsAutomatically),
      networkObserver: nil,
      activityObserver: nil
    )
  )
}

/// A mutation that adds its argument to a number, and throws an error for a negative argument.
struct Add: MutationRequest, Hashable {
  var base: Int

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    guard arguments >= 0 else { throw Refused() }
    return self.base + arguments
  }
}

/// A feed of three pages.
struct Feed: PaginatedRequest, Hashable {
  var offset = 0
  let initialPageId = 0

  func pageId(after page: Page<Int, [Int]>, using paging: Paging<Int, [Int]>, in context: OperationContext) -> Int? {
    page.id < 2 ? page.id + 1 : nil
  }

  func pageId(before page: Page<Int, [Int]>, using paging: Paging<Int, [Int]>, in context: OperationContext) -> Int? {
    page.id > -1 ? page.id - 1 : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Int]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int], any Error>
  ) async throws -> [Int] {
    [paging.pageId * 10 + self.offset]
  }
}
