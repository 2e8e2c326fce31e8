import OperationCore
import TestFixtures

extension SeededGenerator {
  /// A path of few elements out of few, so that paths often meet and contain each other.
  mutating func path(upTo length: Int = 4) -> OperationPath {
    var path = OperationPath()
    for _ in 0..<Int.random(in: 0...length, using: &self) { path.append(element()) }
    return path
  }

  mutating func element() -> OperationPath.Element {
    let nested: OperationPath = ["a", 1]
    let elements: [any Hashable & Sendable] = ["a", "b", 1, 2, UInt8(1), Double.nan, [1, 2], nested]
    return OperationPath.Element(elements[Int.random(in: elements.indices, using: &self)])
  }
}

struct PathItem: OperationPathable, Hashable, Sendable, CustomStringConvertible {
  let path: OperationPath
  var number = 0

  var description: String { "item \(number)" }
}

struct PathQuery: Hashable, Sendable {
  let id: Int
  var weight = 1.0
}

class PathAnimal: Hashable, @unchecked Sendable {
  // Immutable, and so are its subclasses.
  let name: String

  init(_ name: String) {
    self.name = name
  }

  static func == (lhs: PathAnimal, rhs: PathAnimal) -> Bool { lhs.name == rhs.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

// Unchecked as its base class is; it adds nothing.
final class PathDog: PathAnimal, @unchecked Sendable {}
