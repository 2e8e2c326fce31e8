import OperationCore
import TestFixtures
import Testing

/// A path does what an array of its elements does.
@Suite(.bounded) struct OperationPathModelTests {
  private typealias Element = OperationPath.Element

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `Range-replaceable operations follow an array`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var path = OperationPath()
    var model: [Element] = []
    for _ in 0..<300 {
      change(&path, &model, using: &generator)
      expect(path.count, equals: model.count)
      expect(Array(path), equals: model)
      expect(path, equals: OperationPath(elements: model.map(\.base)))
      expect(path.hashValue, equals: OperationPath(elements: model.map(\.base)).hashValue)
      let bounds = range(in: model, using: &generator)
      expect(path[bounds], equals: model[bounds])
      expect(OperationPath(path[bounds]), equals: OperationPath(model[bounds]))
      #expect(OperationPath(path[..<bounds.upperBound]).isPrefix(of: path))
    }
  }

  private func range(in model: [Element], using generator: inout SeededGenerator) -> Range<Int> {
    let lower = Int.random(in: 0...model.count, using: &generator)
    return lower..<Int.random(in: lower...model.count, using: &generator)
  }

  private func change(
    _ path: inout OperationPath,
    _ model: inout [Element],
    using generator: inout SeededGenerator
  ) {
    let element = generator.element()
    let elements = Array(generator.path())
    let bounds = range(in: model, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0:
      path.append(element)
      model.append(element)
    case 1:
      path.append(contentsOf: elements)
      model.append(contentsOf: elements)
    case 2:
      path.append(OperationPath(elements))
      model += elements
    case 3:
      path.insert(element, at: bounds.lowerBound)
      model.insert(element, at: bounds.lowerBound)
    case 4:
      path.replaceSubrange(bounds, with: elements)
      model.replaceSubrange(bounds, with: elements)
    case 5:
      path.removeSubrange(bounds)
      model.removeSubrange(bounds)
    case 6:
      path.removeAll { $0 == element }
      model.removeAll { $0 == element }
    case 7:
      path[bounds] = elements[...]
      model[bounds] = elements[...]
    case 8 where !model.isEmpty:
      path[model.count / 2] = element
      model[model.count / 2] = element
    case 9 where !model.isEmpty:
      path.reverse()
      model.reverse()
      expect(path.popLast(), equals: model.popLast())
    default:
      path = path.appending(element)
      model.append(element)
    }
  }
}
