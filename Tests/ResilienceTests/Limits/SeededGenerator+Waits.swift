import OperationCore
import TestFixtures

extension SeededGenerator {
  /// No longest wait, or one of some whole units.
  mutating func wait(upTo most: Int, in unit: Duration = .seconds(1)) -> Duration? {
    Bool.random(using: &self) ? unit * Int.random(in: 0...most, using: &self) : nil
  }

  mutating func criticality() -> OperationCriticality {
    OperationCriticality.allCases.randomElement(using: &self) ?? .critical
  }
}
