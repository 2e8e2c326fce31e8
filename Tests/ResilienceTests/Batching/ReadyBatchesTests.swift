import OperationCore
import TestFixtures
import Testing

@testable import OperationBatching

@Suite(.bounded) struct ReadyBatchesTests {
  private static let limits = BatchLimits(
    maximumSize: 1,
    window: .zero,
    maximumConcurrentBatches: nil,
    maximumWaitingKeys: nil
  )

  @Test(arguments: ModelRuns.seeds)
  func `Batches that are added and removed keep their order, and few empty places are kept`(seed: UInt64) async {
    let queue = BatchQueue(Self.limits, title: "a batch")
    await ModelRuns.check(200, seed: seed) { generator in
      var ready = ReadyBatches()
      var list: [Batch] = []
      for step in 0..<200 {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0..<3:
          let batch = Batch(scope: nil, context: OperationContext(), maximumSize: 1, of: queue)
          ready.append(batch)
          list.append(batch)
        case 3:
          guard let index = list.indices.randomElement(using: &generator) else { continue }
          ready.remove(list.remove(at: index))
        default:
          let first = ready.popFirst()
          guard first === list.first else { return "step \(step): another batch" }
          if !list.isEmpty { list.removeFirst() }
        }
        guard ready.count == list.count else { return "step \(step): \(ready.count) batches, not \(list.count)" }
        guard ready.placeCount <= 2 * list.count + 17 else { return "step \(step): \(ready.placeCount) places" }
      }
      while let batch = ready.popFirst() { if batch !== list.removeFirst() { return "another order" } }
      return list.isEmpty ? nil : "batches are missing"
    }
  }
}
