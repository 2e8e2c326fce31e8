#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationFoundation

  extension OpaqueOperationState {
    /// The number of parts of a value that are looked at for secrets before it is shown as JSON.
    fileprivate static var maximumParts: Int { 20_000 }

    /// The value as JSON that can be edited and set.
    ///
    /// Nil if its type is not `Codable`, and if it has a secret part, or so many parts that it may have one.
    var editableText: String? { self.mayHaveSecret ? nil : Self.editableText(of: self.base) }

    fileprivate var mayHaveSecret: Bool {
      ShownText.mayHaveSecret(self.currentValue as Any, maximumParts: Self.maximumParts)
    }

    private static func editableText<State: OperationState>(of state: State) -> String? {
      guard State.StateValue.self is any Decodable.Type, let value = state.currentValue as? any Encodable else {
        return nil
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  extension OpaqueOperationStore {
    /// Sets the value of the store to one that is read from JSON.
    ///
    /// - Parameter text: The JSON.
    /// - Returns: Why that was not possible; nil if the value was set.
    func setValue(json text: String) -> String? {
      let state = self.state
      if state.mayHaveSecret { return "The value has a secret part, or too many parts, and JSON has no secrets." }
      return self.setValue(json: text, of: state.base)
    }

    private func setValue<State: OperationState & Sendable>(json text: String, of state: State) -> String? {
      guard let type = State.StateValue.self as? any Decodable.Type else {
        return "\(State.StateValue.self) is not Codable."
      }
      do {
        let decoded = try JSONDecoder().decode(type, from: Data(text.utf8))
        guard let value = decoded as? State.StateValue else { return "The JSON is no \(State.StateValue.self)." }
        self.uncheckedSetCurrentValue(value)
        return nil
      } catch {
        return "The JSON is no \(State.StateValue.self): \(ShownText.whole(error))"
      }
    }
  }
#endif
