internal import AlcoveCore

/// A kind of projector: how its pictures or sounds are marked in a prompt, and how much of them its models take.
///
/// The names are llama.cpp's (`clip.projector_type`). What is not listed is refused by name: some kinds lay their tokens out
/// by where they stand in the prompt, and what is kept of a prompt would then not be the same elsewhere.
struct ProjectorFamily: Sendable {
    /// What the library writes before and behind, which must be tokens of the model's.
    var marks: [String]
    /// Pixels that a picture is worth; the library makes larger ones smaller.
    var pictureArea = 1_048_576
    /// Frames that are taken out of a video.
    var videoFrames = 8
    var frameArea = 262_144
    /// Whether two frames that follow each other become one.
    var mergesFrames = false
    /// Seconds that are heard.
    var soundSeconds = 0

    static let seeing: [String: ProjectorFamily] = [
        "gemma3": ProjectorFamily(marks: ["<start_of_image>", "<end_of_image>"], pictureArea: 802_816, videoFrames: 4),
        "gemma3nv": ProjectorFamily(
            marks: ["<start_of_image>", "<end_of_image>"], pictureArea: 589_824, videoFrames: 4),
        // 280 tokens of 48 x 48 pixels a picture.
        "gemma4v": ProjectorFamily(marks: ["<|image>", "<image|>"], pictureArea: 645_120, frameArea: 161_280),
        "gemma4uv": ProjectorFamily(marks: ["<|image>", "<image|>"], pictureArea: 645_120, frameArea: 161_280),
        "qwen2vl_merger": qwen, "qwen2.5vl_merger": qwen, "qwen3vl_merger": qwen, "qwen2.5o": qwen,
        "idefics3": ProjectorFamily(
            marks: ["<fake_token_around_image>", "<global-img>"], pictureArea: 2_097_152, videoFrames: 4),
        "pixtral": ProjectorFamily(marks: ["[IMG_END]"], videoFrames: 0),
        "internvl": ProjectorFamily(marks: ["<img>", "</img>"]),
        "lfm2": ProjectorFamily(marks: ["<|image_start|>", "<|image_end|>"], videoFrames: 4),
        "mlp": ProjectorFamily(marks: [], pictureArea: 451_584, videoFrames: 0),
    ]

    static let hearing: [String: ProjectorFamily] = [
        "gemma4a": ProjectorFamily(marks: ["<|audio>", "<audio|>"], soundSeconds: 30),
        "gemma4ua": ProjectorFamily(marks: ["<|audio>", "<audio|>"], soundSeconds: 30),
        "ultravox": ProjectorFamily(marks: [], soundSeconds: 300),
        "voxtral": ProjectorFamily(marks: ["[BEGIN_AUDIO]"], soundSeconds: 300),
        "qwen2a": ProjectorFamily(marks: ["<|audio_bos|>", "<|audio_eos|>"], soundSeconds: 300),
        "qwen2.5o": ProjectorFamily(marks: ["<|audio_bos|>", "<|audio_eos|>"], soundSeconds: 300),
        "qwen3a": ProjectorFamily(marks: ["<|audio_start|>", "<|audio_end|>"], soundSeconds: 300),
    ]

    private static let qwen = ProjectorFamily(
        marks: ["<|vision_start|>", "<|vision_end|>"], videoFrames: 16, mergesFrames: true)

    /// Most pictures of one conversation that are shown; what a window holds decides mostly before.
    static let mostPictures = 64
}

/// What a projector's header says that it is for.
struct ProjectorKinds: Sendable {
    var seeing: ProjectorFamily?
    var hearing: ProjectorFamily?

    /// - Throws: `GGUFError` for a kind that is not known here, and for one without any.
    init(_ header: GGUFHeader, _ summary: ModelFileSummary) throws(GGUFError) {
        let common = ProjectorKinds.text("clip.projector_type", header)
        if summary.modalities.contains("vision") {
            seeing = try ProjectorKinds.family(
                ProjectorKinds.text("clip.vision.projector_type", header) ?? common, ProjectorFamily.seeing, summary)
        }
        if summary.modalities.contains("audio") {
            let type = ProjectorKinds.text("clip.audio.projector_type", header) ?? common
            hearing = try ProjectorKinds.family(type, ProjectorFamily.hearing, summary)
        }
        if seeing == nil, hearing == nil {
            throw GGUFError(
                .wrongProjector, "\(summary.fileName) says neither that it sees nor that it hears, so it is of no use.")
        }
    }

    private static func text(_ key: String, _ header: GGUFHeader) -> String? {
        guard case .string(let value)? = header[key]?.value else { return nil }
        return value.text
    }

    private static func family(
        _ type: String?, _ known: [String: ProjectorFamily], _ summary: ModelFileSummary
    ) throws(GGUFError) -> ProjectorFamily {
        guard let type else {
            throw GGUFError(
                .wrongProjector,
                "\(summary.fileName) does not say what kind of projector it is: \"clip.projector_type\" is missing.")
        }
        guard let family = known[type] else {
            throw GGUFError(
                .wrongProjector,
                "\(summary.fileName) is a projector of the kind \(GGUFName.shown(type)), which is not known here.",
                hint: "Use the model without it, or look for a newer version of this program.")
        }
        return family
    }

    var marks: [String] { (seeing?.marks ?? []) + (hearing?.marks ?? []) }

    func abilities(soundRate: Int) -> MediaAbilities {
        var abilities = MediaAbilities()
        if let seeing {
            abilities.sees = true
            abilities.pictureArea = seeing.pictureArea
            abilities.pictures = ProjectorFamily.mostPictures
            abilities.videoFrames = seeing.videoFrames
            abilities.frameArea = seeing.frameArea
        }
        if let hearing, soundRate > 0 {
            abilities.hears = true
            abilities.soundRate = soundRate
            abilities.soundSeconds = hearing.soundSeconds
        }
        return abilities
    }
}
