/// Call formats by name, for tools that have an answer and no template: each is the smallest template from which the library
/// derives that format.
enum KnownFormats {
    static var names: [String] { formats.map(\.names[0]) }

    static func template(named name: String) -> String? {
        let wanted = name.lowercased()
        return formats.first { $0.names.contains(wanted) }?.template
    }

    private static let formats: [(names: [String], template: String)] = [
        (["hermes", "chatml", "qwen", "qwen2.5", "qwen3"], CallFormat.template),
        (["content", "content-only", "plain", "none"], ChatTemplate.chatML),
        (["qwen3.5", "qwen35", "qwen3-coder"], qwen),
        (["gemma4", "gemma-4"], gemma),
        (["harmony", "gpt-oss", "gptoss"], harmony),
        (["mistral", "mistral-nemo"], mistral),
        (["llama3", "llama-3.x", "llama3.1"], llama),
    ]

    private static func chat(_ start: String, _ end: String, _ calls: String, prompt: String) -> String {
        """
        {%- if tools -%}{%- for tool in tools -%}{{- tool | tojson -}}{%- endfor -%}{%- endif -%}
        {%- for message in messages -%}
        {{- '\(start)' -}}{%- if message.content -%}{{- message.content -}}{%- endif -%}
        {%- if message.tool_calls -%}\(calls){%- endif -%}
        {{- '\(end)' -}}
        {%- endfor -%}
        {%- if add_generation_prompt -%}{{- '\(prompt)' -}}{%- endif -%}
        """
    }

    private static let qwen = chat(
        "<|im_start|>' + message.role + '\\n", "<|im_end|>\\n",
        """
        {%- for call in message.tool_calls -%}
        {{- '\\n<tool_call>\\n<function=' + call.function.name + '>\\n' -}}
        {%- for name, value in call.function.arguments | items -%}
        {{- '<parameter=' + name + '>\\n' -}}{{- value if value is string else value | tojson -}}{{- '\\n</parameter>\\n' -}}
        {%- endfor -%}
        {{- '</function>\\n</tool_call>' -}}
        {%- endfor -%}
        """,
        prompt:
            "<|im_start|>assistant\\n' -}}{%- if enable_thinking -%}{{- '<think>\\n' -}}{%- else -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}{{- '"
    )

    private static let gemma = chat(
        "<|turn>' + message.role + '\\n", "<turn|>\\n",
        """
        {%- for call in message.tool_calls -%}
        {{- '<|tool_call>call:' + call.function.name -}}{{- call.function.arguments | tojson -}}{{- '<tool_call|>' -}}
        {%- endfor -%}
        """, prompt: "<|turn>model\\n")

    private static let harmony = chat(
        "<|start|>' + message.role + '<|channel|>final<|message|>", "<|end|>",
        """
        {%- for call in message.tool_calls -%}
        {{- '<|start|>assistant to=functions.' + call.function.name + '<|channel|>commentary json<|message|>' -}}
        {{- call.function.arguments | tojson -}}{{- '<|call|>' -}}
        {%- endfor -%}
        """, prompt: "<|start|>assistant")

    private static let mistral = chat(
        "[INST]", "</s>",
        """
        {{- '[TOOL_CALLS][' -}}
        {%- for call in message.tool_calls -%}
        {{- '{"name": "' + call.function.name + '", "arguments": ' -}}{{- call.function.arguments | tojson -}}
        {{- ', "id": "' + call.id + '"}' -}}{%- if not loop.last -%}{{- ', ' -}}{%- endif -%}
        {%- endfor -%}
        {{- ']' -}}
        """, prompt: "[/INST]")

    private static let llama = chat(
        "<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n", "<|eot_id|>",
        """
        {%- for call in message.tool_calls -%}
        {{- '{"name": "' + call.function.name + '", "parameters": ' -}}{{- call.function.arguments | tojson -}}{{- '}' -}}
        {%- endfor -%}
        """, prompt: "<|start_header_id|>assistant<|end_header_id|>\\n\\n")
}
