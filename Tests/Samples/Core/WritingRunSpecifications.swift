import OperationCore

struct Battery: Sendable {
  struct Observation: Sendable {
    func end() {}
  }

  var level: Double

  func observe(_ onChange: @escaping @Sendable (Double) -> Void) -> Observation { Observation() }
}

let battery = Battery(level: 1)
let lowDataMode = AlwaysRunSpecification(isTrue: false)
