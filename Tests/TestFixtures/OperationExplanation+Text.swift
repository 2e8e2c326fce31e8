package import OperationCore
package import OperationEvents

extension OperationExplanation {
  /// The text without the line of the modifiers, which release builds know less of.
  package var textWithoutModifiers: String {
    self.description.split(separator: "\n").filter { !$0.hasPrefix("Modifiers, from") }.joined(separator: "\n")
  }
}

extension OperationStore {
  /// The explanation without the line of the modifiers.
  package var explanationText: String { self.explain().textWithoutModifiers }
}
