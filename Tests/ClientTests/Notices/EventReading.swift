import OperationEvents
import OperationTesting
import Testing

@testable import OperationClients
@testable import OperationStores

/// The next events without their operation, with runs by their order.
func next(_ count: Int, of events: OperationEventSequence) async throws -> [String] {
  try await withTimeLimit("\(count) events") {
    var (texts, runs) = ([String](), [OperationTaskIdentifier]())
    var iterator = events.makeAsyncIterator()
    while texts.count < count, let event = await iterator.next() {
      if let run = event.run, !runs.contains(run) { runs.append(run) }
      var text = event.sentence
      for (index, run) in runs.enumerated() { text = text.replacing("\(run)", with: "\(index + 1)") }
      texts.append(text)
    }
    return texts
  }
}
